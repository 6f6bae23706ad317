// Package profile knows which browser profiles exist, and resolves a profile to what is needed to reach its browser:
// launch or attach, where, with which flags, with a window or without. It makes one attempt to connect, and finds out
// from outside how a browser is doing.
//
// Profiles lie in browser/profiles.json: name, driver, colour, and a port, an address or a data directory. Ports are
// assigned once and are never 9222. Several programs may use the file. Addresses of remote browsers may be http(s) or
// ws(s); no text of this package shows their credentials. Deleted data goes to the trash, never away. Who owns a
// browser is for package browsermgr.
package profile
