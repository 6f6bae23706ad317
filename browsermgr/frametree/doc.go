// Package frametree knows the frames of one tab: its main one, those that live in processes of their own, and lodgers. Those are frames
// of another origin that share the process of the frame around them, which Chromium tells nobody of: it is found out when a frame
// navigates that may be one.
//
// It is not for what the documents in the frames hold, nor for how far they have loaded.
package frametree
