// Package emulate gives pages what a person would change in the browser's settings or by another machine: cookies,
// storage, network conditions, headers, credentials, location, permissions, time zone, language, device.
//
// It sends its requests while it holds its lock, and answers for new sessions under the same lock, so a tab that
// appears meanwhile gets either the old requests and then the new, or the new alone. Settings last until they are
// cleared or the connection ends. It keeps nothing on disk.
package emulate
