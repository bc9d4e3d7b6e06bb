// Shared by the tests; production code cannot import it.
