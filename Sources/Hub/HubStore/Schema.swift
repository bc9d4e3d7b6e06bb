import HubServer
