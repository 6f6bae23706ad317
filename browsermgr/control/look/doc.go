// Package look serves the routes that show a page: as text with refs, as pictures, and live.
//
// It reads what a client wants to see and asks package page and package picture for it; it decides neither what a page's
// text is nor where pictures are kept.
package look
