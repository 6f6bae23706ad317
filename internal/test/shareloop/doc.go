// Package shareloop implements make share-loop: a page is shared by Go Live, decrypted, decoded by ffmpeg, and
// compared with the original.
package shareloop
