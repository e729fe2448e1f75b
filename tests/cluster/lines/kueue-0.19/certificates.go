package main

import (
	"net"
	"os"
	"path/filepath"

	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
)

// certificates writes into folder what the servers of one run need: tls.crt and tls.key for 127.0.0.1 and localhost
// (tls.crt ends with its own authority, so it serves as the clients' bundle too) and sa.key, which signs tokens.
func certificates(folder string) error {
	loopback := []net.IP{net.IPv4(127, 0, 0, 1)}
	certificate, key, err := cert.GenerateSelfSignedCertKey("localhost", loopback, nil)
	if err != nil {
		return err
	}
	signer, err := keyutil.MakeEllipticPrivateKeyPEM()
	if err != nil {
		return err
	}
	for name, content := range map[string][]byte{"tls.crt": certificate, "tls.key": key, "sa.key": signer} {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			return err
		}
	}
	return nil
}
