import Manual

Writer.run()
