// Package rtc is one WebRTC connection to a page in a browser: the page posts
// an offer and gets the answer, whole, and from then on there is sound both
// ways, a picture to the page, and messages beside them.
//
// It knows no call and no share: who may connect, and what is sent, is for
// those who ask an [Engine] for an answer. Everything of pion is in here.
package webrtc
