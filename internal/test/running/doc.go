// Package running starts the real clank in a separate process, home and temporary directory, for black-box tests. It
// uses only the contract of the API.
package running
