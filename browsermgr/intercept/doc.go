// Package intercept follows what the pages of a browser ask the network for.
//
// A [Witness] is for browsers whose traffic goes through a checking proxy: the proxy refuses, and does not know for which
// tab; the witness tells it. A [Judge] is for browsers that are not ours to start, where no proxy stands: it has every
// request held (CDP domain Fetch) until a gate has judged it. That is the best that can be done there, and less than a
// proxy does: the browser looks the name up again after it was judged, it connects to a place before it asks, and what the
// protocol does not hold is not seen: WebSockets, WebTransport, WebRTC, lookups and connections made ahead of need, reports.
//
// The package knows no rules; it asks a [Gate].
package intercept
