// Package features makes what follows the tabs of each browser (recorders, emulation, downloads, traces) and serves the
// routes by which clients use it.
//
// What follows tabs is found among the observers of a tab's connection, so that a browser which has none of it is told as
// such. Files that clients get or name lie below one folder. Showing a page and acting in it is not done here.
package features
