package prompt

import (
	"crypto/ecdh"
	"crypto/hpke"
	"fmt"
)

// An answer that is taken on one gateway and waited for on another crosses a store,
// and may be a password: it is sealed to the gateway that waits, which alone has the
// key, for as long as it runs.

// sealer opens what was sealed to it.
type sealer struct{ key hpke.PrivateKey }

func newSealer() (s sealer, public []byte) {
	key, err := hpke.DHKEM(ecdh.X25519()).GenerateKey()
	if err != nil {
		panic("BUG: no key can be made: " + err.Error())
	}
	return sealer{key}, key.PublicKey().Bytes()
}

// open reads what was sealed for a prompt.
func (s sealer) open(id string, sealed []byte) ([]byte, error) {
	text, err := hpke.Open(s.key, hpke.HKDFSHA256(), hpke.AES256GCM(), purpose(id), sealed)
	if err != nil {
		return nil, fmt.Errorf("opening an answer: %w", err)
	}
	return text, nil
}

// seal closes a text for the gateway with a public key, for one prompt.
func seal(public []byte, id string, text []byte) ([]byte, error) {
	key, err := hpke.DHKEM(ecdh.X25519()).NewPublicKey(public)
	if err != nil {
		return nil, fmt.Errorf("sealing an answer: %w", err)
	}
	sealed, err := hpke.Seal(key, hpke.HKDFSHA256(), hpke.AES256GCM(), purpose(id), text)
	if err != nil {
		return nil, fmt.Errorf("sealing an answer: %w", err)
	}
	return sealed, nil
}

func purpose(id string) []byte { return []byte("warmpath answer to " + id) }
