// Package delivery is the server's side of Discord's end-to-end encryption of calls (DAVE version 1): it proposes who
// is added and removed, picks a commit of the members, hands out Welcomes, and leads everybody from one epoch, and from
// one version of the protocol, to the next.
//
// It has no sockets and no clock: messages of members go in as calls, and answers come out through a function, in
// order. What a test wants to go wrong it does with [Service.Tamper], [Service.Hold] and [Service.AnnounceAll].
//
//	s, err := New(channel, func(m Message) { members[m.To].send(m) })
//	version := s.Join(ada, 1)          // goes into op 4; what belongs to it follows by itself
//	s.KeyPackage(ada, payload)         // op 26
//	s.Commit(ada, payload)             // op 28
//	s.Ready(ada, transition)           // op 23
//	s.Invalid(ada, transition)         // op 31
//	s.Execute()                        // the server's patience is over: execute what waits for somebody
//	s.Leave(ada)                       // her connection is gone
//
// It knows of a group what the real server knows: id, epoch, and who has which leaf. It has no keys of it, so it is not for
// checking whether members do MLS right.
package delivery
