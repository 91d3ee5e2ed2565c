"""The compilation cache: a folder of compiled programs that several processes share."""
