// Package route is the vocabulary of the control API's table: a route with its handler, what its requests carry, and the
// request that a handler gets.
//
// One table of routes makes both the server and its OpenAPI document. The package has no routes of its own.
package route
