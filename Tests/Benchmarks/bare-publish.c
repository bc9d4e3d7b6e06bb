// Reads a POST, produces its body and answers 202 when Kafka has it: the least that a publish gateway can do, with the libraries and the
// producer's settings that `pushfan gateway` has. The benchmark `publish` measures both in one run.
//
//   bare-publish BOOTSTRAP TOPIC     prints its port; ends with its standard input
//
//   cc -O2 bare-publish.c -o bare-publish $(pkg-config --cflags --libs libmicrohttpd rdkafka) -lpthread

#include <librdkafka/rdkafka.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct exchange {
  struct MHD_Connection *connection;
  char *body;
  size_t size;
  int status;
  int answered;
  long offset;
  int partition;
};

static rd_kafka_t *producer;
static rd_kafka_topic_t *topic;

static void delivered(rd_kafka_t *client, const rd_kafka_message_t *message, void *context) {
  (void)client, (void)context;
  struct exchange *exchange = message->_private;
  exchange->status = message->err ? 503 : 202;
  exchange->partition = message->partition;
  exchange->offset = message->offset;
  MHD_resume_connection(exchange->connection);
}

static enum MHD_Result reply(struct exchange *exchange) {
  char text[160];
  int size = snprintf(text, sizeof text, "{\"state\":\"accepted\",\"partition\":\"%d\",\"offset\":\"%ld\"}", exchange->partition,
                      exchange->offset);
  struct MHD_Response *response = MHD_create_response_from_buffer((size_t)size, text, MHD_RESPMEM_MUST_COPY);
  MHD_add_response_header(response, "Content-Type", "application/json");
  exchange->answered = 1;
  enum MHD_Result result = MHD_queue_response(exchange->connection, (unsigned)exchange->status, response);
  MHD_destroy_response(response);
  return result;
}

static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *piece, size_t *size, void **state) {
  (void)context, (void)url, (void)method, (void)version;
  struct exchange *exchange = *state;
  if (!exchange) {
    *state = exchange = calloc(1, sizeof *exchange);
    exchange->connection = connection;
    return exchange ? MHD_YES : MHD_NO;
  }
  if (exchange->status) return reply(exchange);
  if (*size) {
    char *body = realloc(exchange->body, exchange->size + *size);
    if (!body) return MHD_NO;
    memcpy(body + exchange->size, piece, *size);
    exchange->body = body;
    exchange->size += *size;
    *size = 0;
    return MHD_YES;
  }
  MHD_suspend_connection(connection);
  // A key of its own for each, as the gateway's records have: without one, records would go to one partition for a time.
  static _Atomic long last;
  long key = ++last;
  if (rd_kafka_produce(topic, RD_KAFKA_PARTITION_UA, RD_KAFKA_MSG_F_FREE, exchange->body, exchange->size, &key, sizeof key, exchange)) {
    exchange->status = 503;
    MHD_resume_connection(connection);
  } else {
    exchange->body = NULL;
  }
  return MHD_YES;
}

static void completed(void *context, struct MHD_Connection *connection, void **state, enum MHD_RequestTerminationCode code) {
  (void)context, (void)connection, (void)code;
  struct exchange *exchange = *state;
  if (exchange) free(exchange->body);
  free(exchange);
}

static void *poll_producer(void *argument) {
  for (;;) rd_kafka_poll(producer, 100);
  return argument;
}

int main(int count, char **arguments) {
  if (count != 3) return 2;
  const char *settings[][2] = {{"bootstrap.servers", arguments[1]}, {"enable.idempotence", "true"}, {"linger.ms", "1"},
                               {"max.in.flight.requests.per.connection", "1"}, {"compression.type", "lz4"}, {"partitioner", "murmur2_random"}};
  char error[512];
  rd_kafka_conf_t *configuration = rd_kafka_conf_new();
  for (size_t index = 0; index < sizeof settings / sizeof *settings; index++)
    if (rd_kafka_conf_set(configuration, settings[index][0], settings[index][1], error, sizeof error)) return 1;
  rd_kafka_conf_set_dr_msg_cb(configuration, delivered);
  producer = rd_kafka_new(RD_KAFKA_PRODUCER, configuration, error, sizeof error);
  if (!producer || !(topic = rd_kafka_topic_new(producer, arguments[2], NULL))) return 1;
  pthread_t thread;
  pthread_create(&thread, NULL, poll_producer, NULL);
  struct MHD_Daemon *daemon =
      MHD_start_daemon(MHD_USE_POLL | MHD_USE_INTERNAL_POLLING_THREAD | MHD_ALLOW_SUSPEND_RESUME, 0, NULL, NULL, handle, NULL,
                       MHD_OPTION_THREAD_POOL_SIZE, 2u, MHD_OPTION_CONNECTION_LIMIT, 8192u, MHD_OPTION_NOTIFY_COMPLETED, completed,
                       NULL, MHD_OPTION_LISTEN_BACKLOG_SIZE, 1024u, MHD_OPTION_END);
  if (!daemon) return 1;
  printf("%u\n", (unsigned)MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT)->port);
  fflush(stdout);
  char byte;
  while (read(0, &byte, 1) > 0) {}
  MHD_stop_daemon(daemon);
  return 0;
}
