// Package assets holds the scripts and the style sheet of the live pane, which pages of ours put where it is wanted:
// pane.js makes it, hands.js tells what is done with mouse, fingers and keys, elements.js makes elements, for those pages,
// too. They load only each other.
package assets

import "embed"

// Files are the scripts and the style sheet.
//
//go:embed *.js *.css
var Files embed.FS
