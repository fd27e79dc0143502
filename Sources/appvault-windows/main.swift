Windows.main()
