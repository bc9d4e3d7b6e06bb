// The folder's first file.
