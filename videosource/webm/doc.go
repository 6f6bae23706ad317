// Package webm writes and reads recordings: one VP8 track as WebM (the subset of Matroska, RFC 9559) with chapters.
// It reads only files that it has written.
//
// A film is written while it is recorded. Clusters are written whole, so a truncated file is playable up to there,
// without chapters and an index. Every key frame begins a cluster.
package webm
