// Command warmpath is a gateway in front of the APIs of language models that
// keeps their prompt caches warm.
package main

import "os"

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}
