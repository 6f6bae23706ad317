// Package files moves files between pages and this machine: downloads are caught and saved in their folder, uploads are
// copied from open, checked files into file inputs.
//
// Paths stay inside their folders, whatever links lie around; names from pages are made harmless. A download is
// identified, approved and marked in a directory of its own before it moves to where people find it. The package knows
// no policy about addresses.
package files
