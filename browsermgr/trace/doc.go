// Package trace writes down what happens in a browser, as a zip file that Playwright's trace viewer opens: actions with the
// page before and after them, pictures, console messages, errors and requests. The format is version 10 of that viewer's
// own, read off the files it writes and the way it reads them.
//
// A [Tracer] is a page.Observer for one connection and runs one trace at a time. What it writes down goes to disk at once;
// memory and disk are bounded, and what was left out is said in the trace. It is not for keeping the newest requests or
// messages at hand: that is record's, from which it takes them, without secrets.
package trace
