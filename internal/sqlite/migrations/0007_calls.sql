-- When calls were begun, in microseconds since 1970: how many there may be in a day holds over restarts.
CREATE TABLE calls_begun (
	at INTEGER NOT NULL
);
