package voicetest

// Opcodes of the voice gateway.
const (
	OpIdentify       = 0
	OpSelectProtocol = 1
	OpReady          = 2
	OpHeartbeat      = 3
	OpDescription    = 4
	OpSpeaking       = 5
	OpHeartbeatACK   = 6
	OpResume         = 7
	OpHello          = 8
	OpResumed        = 9
	OpConnected      = 11 // clients that are there
	OpVideo          = 12
	OpDisconnected   = 13
	OpSessionUpdate  = 14
	OpWants          = 15 // media sink wants
	OpBackend        = 16 // version of the server
	OpFlags          = 18
	OpPlatform       = 20
	OpNoRoute        = 32

	OpPrepareTransition    = 21
	OpExecuteTransition    = 22
	OpReadyForTransition   = 23
	OpPrepareEpoch         = 24
	OpExternalSender       = 25
	OpKeyPackage           = 26
	OpProposals            = 27
	OpCommitWelcome        = 28
	OpAnnounceCommit       = 29
	OpWelcome              = 30
	OpInvalidCommitWelcome = 31
)

// Close codes of the voice gateway.
const (
	CloseUnknownOpcode    = 4001
	CloseDecodeError      = 4002
	CloseNotAuthenticated = 4003
	CloseAuthFailed       = 4004
	CloseAlreadyAuthed    = 4005
	CloseSessionInvalid   = 4006
	CloseTimeout          = 4009
	CloseServerNotFound   = 4011
	CloseUnknownProtocol  = 4012
	CloseDisconnected     = 4014
	CloseCrashed          = 4015
	CloseUnknownMode      = 4016
	CloseNeedsDAVE        = 4017
	CloseBadRequest       = 4020
	CloseRateLimited      = 4021
)

// isResumable tells whether a client may come back to the session that such a close has interrupted.
func isResumable(code int) bool { return code < 4000 || code == CloseCrashed }
