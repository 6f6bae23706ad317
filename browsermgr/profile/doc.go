// Package profile manages the list of browser profiles, and resolves a profile to its launch or attach settings:
// address, flags, headless or visible. It makes single attempts to connect, and probes browsers without a connection.
//
// Profiles are stored in browser/profiles.json: name, driver, colour, and a port, an address or a data directory. Ports
// are assigned once and are never 9222. Several programs may use the file. Addresses of remote browsers may be http(s)
// or ws(s); no text of this package contains their credentials. Deleted data is moved to the trash. Package browsermgr
// owns the browsers.
package profile
