package liveview

import "embed"

// Assets are the scripts and the style sheet of the live pane, which pages of ours put where it is wanted, in the folder
// "assets": pane.js makes it, hands.js tells what is done with mouse, fingers and keys. They load only each other.
//
//go:embed assets
var Assets embed.FS
