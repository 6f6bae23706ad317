// Package webm writes and reads films: one VP8 track as WebM (the subset of Matroska, RFC 9559) with chapters. It is
// not for files of others: what it reads it has written.
//
// A film is written as it is shot. Each cluster is written whole, so a file that was cut off plays up to there, only
// without chapters and an index. Every key frame begins a cluster.
package webm
