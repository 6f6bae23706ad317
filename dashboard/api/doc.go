// Package api is the dashboard's HTTP API: the JSON types shared by the server, its pages and the commands, and a
// typed client.
package api
