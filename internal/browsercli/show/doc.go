// Package show prints what a control server answered for people, or as JSON for programs. What a terminal
// would obey is taken out of what pages wrote: titles, addresses, texts. The package is not for asking the server.
package show
