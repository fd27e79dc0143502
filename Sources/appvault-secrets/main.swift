import SecretService

SecretsProgram.run()
