"""What people see: the pages, the live feed behind them, and the HTTP API for other people's pages."""
