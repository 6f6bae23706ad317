// Package api is the dashboard's HTTP API: the JSON shapes that server, page and commands share, and a typed client.
package api
