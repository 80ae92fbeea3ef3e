-- Each question is answered in two ways, a quick and a slow one, and the first answer counts.
--
-- > Race first     the slow one goes on, for nobody
-- > Race cancel    it is ended
-- > Race all       both answers are used
module Main (main) where

import Control.Concurrent
import Control.Exception (evaluate)
import Control.Monad
import GHC.Conc (labelThread)
import System.Environment (getArgs)

main :: IO ()
main = do
  [how] <- getArgs
  answers <- forM [1 .. 120] $ \question -> do
    one <- newEmptyMVar
    other <- if how == "all" then newEmptyMVar else pure one
    quick <- ask "quick" one (20000 + question)
    slow <- ask "slow" other (200000 + question)
    answer <- takeMVar one
    case how of
      "all" -> (answer +) <$> takeMVar other
      "cancel" -> answer <$ forkIO (mapM_ killThread [quick, slow])
      _ -> pure answer
  print (sum answers `mod` 1000003)

ask :: String -> MVar Integer -> Integer -> IO ThreadId
ask name box size = do
  thread <- forkIO (evaluate (sum [1 .. size]) >>= void . tryPutMVar box)
  thread <$ labelThread thread name
