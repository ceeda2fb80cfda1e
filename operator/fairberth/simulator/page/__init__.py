"""The report as a web page: its pictures, tables and style."""
