import Agent

AgentProgram.run()
