import Client

Tool.main()
