// Package shareloop is make share-loop: a page is shared by Go Live, decrypted by davey, decoded by ffmpeg,
// and compared.
package shareloop
