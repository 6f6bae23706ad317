// Package shareloop is make share-loop: a page is shared by Go Live, decrypted, decoded by ffmpeg, and
// compared.
package shareloop
