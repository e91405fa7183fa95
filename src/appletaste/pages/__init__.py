"""What people look at: tables, pages and charts."""
