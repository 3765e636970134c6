"""What commands share: finding tables and ledgers, options of prices and of reading, files, progress."""
