Worker.run()
