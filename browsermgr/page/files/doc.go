// Package files moves files between pages and this machine: it captures downloads and saves them in a folder, and
// copies checked files into file inputs.
//
// Paths stay inside their folders even if there are links; names from pages are sanitized. A download is inspected,
// approved and marked in a staging directory before it moves to its target. The package has no policy for URLs.
package files
