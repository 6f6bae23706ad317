package profile

// DetectAcceleration is what the tests look at from inside.
var DetectAcceleration = detectAcceleration
