// Package load follows how far a tab's main document has loaded, which navigations and tabs its page has asked for, and which requests
// of all its frames have no answer yet.
//
// It is not for waiting: whoever owns a [State] does that.
package load
