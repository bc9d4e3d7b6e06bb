// The folder's first file; it goes when the module has its own.
