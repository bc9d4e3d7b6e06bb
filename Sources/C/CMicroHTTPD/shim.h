// libmicrohttpd, the HTTP server library. Only the target `HTTPServing` imports this.
// The functions below give fixed argument lists to the library's variadic calls, which Swift cannot see.
#pragma once
#include <linux/filter.h>
#include <microhttpd.h>
#include <sys/socket.h>

/// `MHD_start_daemon` with its options in one array that ends with `MHD_OPTION_END`. `accept` is asked for every new connection.
static inline struct MHD_Daemon *pushfan_mhd_start(unsigned int flags, MHD_AcceptPolicyCallback accept,
                                                   MHD_AccessHandlerCallback handler, void *context,
                                                   struct MHD_OptionItem *options) {
    return MHD_start_daemon(flags, 0, accept, context, handler, context, MHD_OPTION_ARRAY, options, MHD_OPTION_END);
}

/// Has the body end with the connection, as in HTTP/1.0, and not with a last chunk.
static inline void pushfan_mhd_end_with_connection(struct MHD_Response *response) {
    MHD_set_response_options(response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
}

/// Has the system drop every packet that begins a connection to this listening socket. Handshakes that have begun go on, and so do
/// connections. Returns 0, or -1 where the system cannot.
static inline int pushfan_refuse_handshakes(int listening) {
    struct sock_filter steps[] = {
        // The flags of a TCP header, of which SYN comes without ACK.
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, 13),
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0x12),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0x02, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, 0),
        BPF_STMT(BPF_RET | BPF_K, 0xffffffff),
    };
    struct sock_fprog program = {.len = sizeof steps / sizeof steps[0], .filter = steps};
    return setsockopt(listening, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
}

/// The connection's socket, or -1.
static inline int pushfan_mhd_socket(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? info->connect_fd : -1;
}

/// The bytes of the request's head as it came, the blank line included, or 0.
static inline size_t pushfan_mhd_head_size(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    return info ? info->header_size : 0;
}

/// The peer's address, or NULL.
static inline const struct sockaddr *pushfan_mhd_peer(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return info ? info->client_addr : NULL;
}

/// What the connection callback stored for this connection, or NULL.
static inline void *pushfan_mhd_connection_context(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}
