internal import CCurl

extension TransportFailure.Cause {
    /// The failure that libcurl's error means while it connects (libcurl-errors(3)).
    init(connecting code: CURLcode, usesProxy: Bool) {
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST:
            self = .resolve
        case CURLE_COULDNT_RESOLVE_PROXY, CURLE_PROXY:
            self = .proxy
        case CURLE_OPERATION_TIMEDOUT:
            self = .connectTimeout
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_INVALIDCERTSTATUS:
            self = .certificate
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER, CURLE_SSL_CERTPROBLEM, CURLE_SSL_ENGINE_NOTFOUND,
            CURLE_SSL_ENGINE_SETFAILED, CURLE_SSL_ENGINE_INITFAILED, CURLE_USE_SSL_FAILED, CURLE_SSL_CRL_BADFILE,
            CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_CLIENTCERT:
            self = .tls
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING:
            // libcurl has no more exact code for a proxy that answers CONNECT with an error.
            self = usesProxy ? .proxy : .connect
        default:
            self = .connect
        }
    }
}
