internal import Basics
internal import CCurl
internal import Crypto
internal import Glibc

/// The way libcurl is to connect.
extension CurlConnector {
    /// Sets every option of a new handle. Returns false when libcurl has no memory or refuses one.
    func prepare(_ easy: UnsafeMutableRawPointer, for connection: Connection) -> Bool {
        connection.errorText.pointee = 0
        let context = Unmanaged.passUnretained(self).toOpaque()
        let results = [
            push_curl_set_string(easy, CURLOPT_URL, "\(configuration.scheme.rawValue)://\(configuration.authority)/"),
            push_curl_set_string(easy, CURLOPT_PROTOCOLS_STR, configuration.scheme.rawValue),
            push_curl_set_long(easy, CURLOPT_CONNECT_ONLY, 1),
            push_curl_set_long(easy, CURLOPT_FRESH_CONNECT, 1),
            push_curl_set_long(easy, CURLOPT_NOSIGNAL, 1),
            // Without it libcurl 7.88 joins the thread that looks a name up when it gives a connection up, and every other one waits.
            push_curl_set_long(easy, CURLOPT_QUICK_EXIT, 1),
            push_curl_set_long(easy, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1)),
            push_curl_set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, milliseconds(configuration.connectTimeout)),
            // libcurl shuffles a name's addresses when it has looked them up. From its cache they come in one order, and every
            // connection would go to the same address.
            push_curl_set_long(easy, CURLOPT_DNS_CACHE_TIMEOUT, 0),
            push_curl_set_long(easy, CURLOPT_DNS_SHUFFLE_ADDRESSES, 1),
            push_curl_set_pointer(easy, CURLOPT_RESOLVE, addresses),
            push_curl_set_long(easy, CURLOPT_TCP_KEEPALIVE, 1),
            push_curl_set_long(easy, CURLOPT_HTTPPROXYTUNNEL, 1),
            push_curl_set_pointer(easy, CURLOPT_PRIVATE, UnsafeMutableRawPointer(bitPattern: connection.slot)),
            push_curl_set_pointer(easy, CURLOPT_ERRORBUFFER, connection.errorText),
            push_curl_set_pointer(easy, CURLOPT_CLOSESOCKETDATA, context),
            push_curl_set_close_socket_function(easy, closeSocket),
            push_curl_set_string(easy, CURLOPT_PROXY, proxy?.url ?? ""),
            push_curl_set_string(easy, CURLOPT_NOPROXY, ""),
        ]
        return results.allSatisfy { $0 == CURLE_OK } && (isPlain || secure(easy)) && (!isWithinProxyTLS || secureProxy(easy))
            && (configuration.refuses == nil || choose(easy, for: connection))
    }

    /// Has each address asked about before its socket is there.
    private func choose(_ easy: UnsafeMutableRawPointer, for connection: Connection) -> Bool {
        connection.addresses.begin()
        return push_curl_set_pointer(easy, CURLOPT_OPENSOCKETDATA, Unmanaged.passUnretained(connection).toOpaque()) == CURLE_OK
            && push_curl_set_open_socket_function(easy, openSocket) == CURLE_OK
    }

    private func secure(_ easy: UnsafeMutableRawPointer) -> Bool {
        var results = [
            push_curl_set_pointer(easy, CURLOPT_SHARE, share),
            push_curl_set_long(easy, CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2)),
            push_curl_set_long(easy, CURLOPT_SSL_VERIFYPEER, configuration.verifyPeer ? 1 : 0),
            push_curl_set_long(easy, CURLOPT_SSL_VERIFYHOST, configuration.verifyPeer ? 2 : 0),
            push_curl_set_string(easy, CURLOPT_CAINFO, nil),
            push_curl_set_string(easy, CURLOPT_CAPATH, nil),
        ]
        if let certificates {
            let context = Unmanaged.passUnretained(certificates).toOpaque()
            results.append(push_curl_set_pointer(easy, CURLOPT_SSL_CTX_DATA, context))
            results.append(push_curl_set_ssl_context_function(easy, attachCertificates))
        }
        return results.allSatisfy { $0 == CURLE_OK }
    }

    /// As for the host. The callback that attaches the certificates is called for both.
    private func secureProxy(_ easy: UnsafeMutableRawPointer) -> Bool {
        let results = [
            push_curl_set_long(easy, CURLOPT_PROXY_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2)),
            push_curl_set_long(easy, CURLOPT_PROXY_SSL_VERIFYPEER, configuration.verifyPeer ? 1 : 0),
            push_curl_set_long(easy, CURLOPT_PROXY_SSL_VERIFYHOST, configuration.verifyPeer ? 2 : 0),
            push_curl_set_string(easy, CURLOPT_PROXY_CAINFO, nil),
            push_curl_set_string(easy, CURLOPT_PROXY_CAPATH, nil),
        ]
        return results.allSatisfy { $0 == CURLE_OK }
    }

    private func milliseconds(_ duration: Duration) -> Int {
        max(1, Int(duration.wholeMilliseconds))
    }
}

// The callbacks get the connector, its certificate store or a connection of the pool as an unretained pointer: all live longer than every
// handle they are set on, for the pool closes all handles before it lets go of connector and connections.

private func openSocket(
    _ context: UnsafeMutableRawPointer?, purpose: curlsocktype, address: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
    guard let context, let address else { return CURL_SOCKET_BAD }
    return Unmanaged<Connection>.fromOpaque(context).takeUnretainedValue().addresses.openSocket(to: address)
}

private func closeSocket(_ context: UnsafeMutableRawPointer?, socket: curl_socket_t) -> Int32 {
    if let context { Unmanaged<CurlConnector>.fromOpaque(context).takeUnretainedValue().unwatch(socket) }
    return Glibc.close(socket)
}

private func attachCertificates(
    _: UnsafeMutableRawPointer?, sslContext: UnsafeMutableRawPointer?, store: UnsafeMutableRawPointer?
) -> CURLcode {
    guard let sslContext, let store else { return CURLE_SSL_CERTPROBLEM }
    Unmanaged<CertificateStore>.fromOpaque(store).takeUnretainedValue().attach(toSSLContext: sslContext)
    return CURLE_OK
}
