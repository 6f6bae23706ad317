// Package intercept follows what pages ask the network for.
//
// A witness tells the proxy which tab a refused request was from. A judge is for browsers that we did not start: each
// request is held (CDP Fetch) until the gate has judged it, on the tabs' sessions and on the browser's own, since
// shared workers and some sandboxed frames are only held there. It is best effort: WebSockets, WebTransport, WebRTC,
// early lookups and reports are not held. It knows no rules.
package intercept
