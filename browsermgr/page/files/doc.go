// Package transfer moves files between pages and the folders of this machine that are meant for it: what pages offer for
// download is caught and saved under a downloads folder, and files of uploads folders are put into file inputs.
//
// A [Desk] watches one connection to a browser, as a page.Observer. It names files, keeps paths inside their folders and
// lets nothing half-done behind. It does not decide which addresses are allowed, and it opens no tabs.
package files
