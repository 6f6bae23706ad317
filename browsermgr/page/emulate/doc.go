// Package emulate sets what a person would change in the browser's settings or by using another device: cookies,
// storage, network conditions, headers, credentials, location, permissions, time zone, language, device.
//
// It sends requests while holding its lock, and sets up new sessions under the same lock, so a tab that appears during
// a change gets either the old settings followed by the new, or only the new. Settings last until they are cleared or
// the connection ends. Nothing is stored on disk.
package emulate
