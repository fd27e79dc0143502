Scanner.run()
