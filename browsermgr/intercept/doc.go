// Package intercept observes and checks the network requests of pages.
//
// RefusalObserver tells the proxy which tab sent a refused request. RequestFilter is for browsers that we did not
// start: it pauses each request (CDP Fetch) until a policy has checked it, in the tabs' sessions and in the browser's
// root session, since shared workers and some sandboxed frames are only paused there. It is best effort: WebSockets,
// WebTransport, WebRTC, DNS prefetching and reports are not paused. The package has no rules itself.
package intercept
