import Desktop

Desktop.main()
